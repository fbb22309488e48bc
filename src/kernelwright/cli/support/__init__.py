"""What several commands share: flags, tables, live views, streams, errors as messages and exit codes."""
