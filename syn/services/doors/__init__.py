"""What both doors share: operations, a session that stays open, clients, import and export."""
