# The page for those who outgrow a Space, and a node of a Ray cluster: what they need of what `make`
# installs, and the small model, so that a container needs no network.
#
#     docker build --tag sauda . && docker run --publish 7860:7860 sauda
#
# Python 3.11 and its torch are those of the recorded measurements. The tag moves with Debian's fixes;
# docs/serving.md names the base by its digest, and makes a bill of materials.
ARG BASE=python:3.11-slim
FROM $BASE

# Of the code, the weights and the fonts (NOTICE). Packages have theirs in their dist-info, and
# those of Debian under /usr/share/doc.
LABEL org.opencontainers.image.licenses="MIT AND Apache-2.0 AND OFL-1.1"

# Builds of torch for CPUs; for a GPU, --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu130
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

RUN useradd --create-home --uid 1000 sauda && install --directory --owner sauda /home/sauda/app
WORKDIR /home/sauda/app

# torch first, as its builds share a version and no hash; then all else by its locked hash.
COPY requirements.txt requirements.lock ./
RUN pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" --constraint requirements.txt torch \
 && pip install --no-cache-dir --no-deps --require-hashes --requirement requirements.lock

COPY --chown=sauda . .
USER sauda
RUN python -m sauda weights

ENV HOST=0.0.0.0 PORT=7860 PYTHONUNBUFFERED=1
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s \
  CMD ["python", "-c", "import os, urllib.request as u; \
  u.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/health', timeout=8)"]
CMD ["python", "app.py"]
