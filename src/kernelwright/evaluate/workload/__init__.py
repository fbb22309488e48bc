"""What candidates are judged on: cases, programs, how outputs are compared, and how another process opens it all."""
