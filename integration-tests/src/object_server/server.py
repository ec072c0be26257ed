"""Serves the S3 protocol on a free loopback port, which it prints. Ends with its standard input.

moto looks a condition up and puts the object in two steps. Requests are served one at a time, so that the two are one,
as they are in the stores that this one stands for.

POST /BUCKET?test-age=SECONDS, which no store has, makes every object of a bucket so much older.
"""

import datetime
import os
import sys
import threading

sys.path.insert(0, sys.argv[1])

from moto.core import DEFAULT_ACCOUNT_ID  # noqa: E402
from moto.moto_server.werkzeug_app import (  # noqa: E402
    DomainDispatcherApplication,
    create_backend_app,
)
from moto.s3.models import s3_backends  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

application = DomainDispatcherApplication(create_backend_app)
lock = threading.Lock()


def age(bucket, seconds):
    objects = s3_backends[DEFAULT_ACCOUNT_ID]["aws"].get_bucket(bucket).keys
    for item in objects.values():
        item.last_modified -= datetime.timedelta(seconds=seconds)


def one_at_a_time(environ, start_response):
    with lock:
        asked, _, seconds = environ["QUERY_STRING"].partition("test-age=")
        if seconds and not asked:
            age(environ["PATH_INFO"].strip("/"), int(seconds))
            start_response("200 OK", [("Content-Length", "0")])
            return []
        return list(application(environ, start_response))


server = make_server("127.0.0.1", 0, one_at_a_time, threaded=True)
print(server.port, flush=True)


def end_with_the_starter():
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=end_with_the_starter, daemon=True).start()
server.serve_forever()
