"""What the edits of a kernel may say of its memory: where pointers come from, what orders accesses, what other threads do."""
