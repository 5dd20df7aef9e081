"""What both doors share: operations, a session that stays open, clients, hooks and the skill."""
