"""What keeps a process answering while others fail: waiting slots, time left, circuit breakers."""
