"""redis-py against the module: a plain server and a cluster, at the ports given."""

import sys
import time

import redis
from redis.cluster import RedisCluster


def check(client, prefix):
    call = client.execute_command
    for number in range(20):
        key = f"{prefix}:{number}"
        assert call("APBF.RESERVE", key, "TIME", "0.001", 1000, 60) in (True, b"OK", "OK")
        assert call("APBF.ADD", key, b"\x00\xff", "b") in (True, b"OK", "OK")
        assert [bool(bit) for bit in call("APBF.ADDNX", key, "b", "c", "c")] == [False, True, False]
        assert [bool(bit) for bit in call("APBF.EXISTS", key, b"\x00\xff", "c", "x")] == [True, True, False]
        assert call("APBF.CARD", key) == 3
        now = int(time.time() * 1000)
        assert [bool(bit) for bit in call("APBF.BETWEEN", key, now - 60_000, now + 1_000, "b", "x")] == [True, False]
        least, most = call("APBF.AGE", key, "b")[0]
        assert 0 <= least <= most
        info = call("APBF.INFO", key)
        if isinstance(info, list):
            info = dict(zip(info[::2], info[1::2]))
        assert info[b"Inserts count"] == 3 and info[b"Time Span"] == 60_000
        try:
            call("APBF.ADD", key)
        except redis.ResponseError as error:
            assert "wrong number" in str(error)
        else:
            raise AssertionError("an error was expected")


def main(plain, cluster):
    for protocol in (2, 3):
        client = redis.Redis(port=plain, protocol=protocol)
        client.flushall()
        check(client, "plain")
        pipeline = client.pipeline()
        for number in range(100):
            pipeline.execute_command("APBF.INSERT", "piped", "NX", "ITEMS", f"item-{number % 50}")
        answers = [bool(answer[0]) for answer in pipeline.execute()]
        assert answers == [True] * 50 + [False] * 50
        client.set("text", 1)
        try:
            client.execute_command("APBF.CARD", "text")
        except redis.ResponseError as error:
            assert str(error).startswith("WRONGTYPE"), error
        else:
            raise AssertionError("an error was expected")
    check(RedisCluster(host="127.0.0.1", port=cluster), "cluster")
    print("redis-py", redis.__version__, "agrees")


main(int(sys.argv[1]), int(sys.argv[2]))
