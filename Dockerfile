# The image of ConvEngine: `docker build --tag convengine .`
# A project takes it as its base (`FROM convengine`) and copies its files to /srv/convengine.
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements-production.lock .
RUN python -m venv /opt/convengine \
 && /opt/convengine/bin/pip install --no-cache-dir --require-hashes -r requirements-production.lock
COPY . .
# `--build-arg BUILD_COMMIT=$(git rev-parse --short=12 HEAD)`: the image has no repository, and `convengine --version` names the commit.
ARG BUILD_COMMIT=""
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist . \
 && /opt/convengine/bin/pip install --no-cache-dir --no-deps /dist/*.whl

FROM python:3.13-slim
COPY --from=build /opt/convengine /opt/convengine
ENV PATH=/opt/convengine/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CE_PROJECT_DIR=/srv/convengine \
    CE_VAR_DIR=/var/lib/convengine
RUN useradd --system --uid 10001 --home-dir /srv/convengine --create-home convengine \
 && install --directory --owner convengine --group convengine /var/lib/convengine
WORKDIR /srv/convengine
USER 10001
VOLUME /var/lib/convengine
EXPOSE 8000 8001
# It answers while the process does; a load balancer asks /readyz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/livez', timeout=4)"]
# SIGTERM lets running turns end, SIGHUP restarts without a gap.
STOPSIGNAL SIGTERM
ENTRYPOINT ["convengine"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
