FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    NOTIFYQ_DATA_DIR=/data

RUN useradd --create-home --uid 10001 notifyq && install -d -o notifyq /data
WORKDIR /srv/notifyq

# Packages before code: a change of the code alone then rebuilds in seconds.
COPY constraints.txt pyproject.toml ./
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" \
      > /tmp/requirements.txt \
    && pip install -c constraints.txt -r /tmp/requirements.txt

COPY . .
USER notifyq
EXPOSE 8000
VOLUME /data

CMD ["gunicorn", "notifyq.wsgi", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "8", "--worker-tmp-dir", "/dev/shm"]
