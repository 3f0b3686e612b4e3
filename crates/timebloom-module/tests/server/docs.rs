//! The examples of docs/redis.md: each block is typed into redis-cli, and must show what the page shows.
