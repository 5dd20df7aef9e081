"""Keys, signatures, policy and trust. The only home of cryptography."""
