"""Taking other programs' notes in, and handing facts out in other programs' forms."""
