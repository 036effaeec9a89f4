# Two images: the command line (for "upshot … --server" and "upshot mcp"), and the sandbox.
# A project has a Dockerfile of its own, which "upshot init" writes.
#   docker build -t upshot .
#   docker build -t upshot-sandbox --target sandbox .
FROM node:24-slim AS package
WORKDIR /build
COPY . .
RUN npm ci && npm run package -- --pack-destination /tmp

FROM node:24-slim AS installed
COPY --from=package /tmp/upshot-*.tgz /tmp/
# The image has Node already.
RUN npm install --global --omit=optional /tmp/upshot-*.tgz && npm cache clean --force && rm /tmp/upshot-*.tgz

FROM installed AS sandbox
RUN mkdir -m 700 /data && chown node /data
VOLUME /data
EXPOSE 4747 4748
USER node
HEALTHCHECK --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:4747/').then(() => process.exit(0), () => process.exit(1))"]
# Publish its ports under their own numbers: the URLs of downloads name 127.0.0.1:4748.
CMD ["upshot", "sandbox", "start", "--dir", "/data", "--host", "0.0.0.0"]

FROM installed AS upshot
WORKDIR /project
USER node
ENTRYPOINT ["upshot"]
CMD ["--help"]
