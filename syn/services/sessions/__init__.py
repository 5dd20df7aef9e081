"""Images of agent sessions: recorded, kept with the workspace, checked."""
