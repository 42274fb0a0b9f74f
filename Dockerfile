# The service on Node over a PostgreSQL of yours. Build: docker build -t governed-data-service .
# Run: see docs/deploy-node.md. Sources are TypeScript, which Node 24 runs as they are: only the console is built.
# It serves; `npm start`, the demo and the packages, which need what a developer installs, stay outside.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY src src
COPY scripts/console scripts/console
COPY packages/client/src packages/client/src
COPY console console
COPY docs docs
RUN node scripts/console/build.ts

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production SERVICE_HOST=0.0.0.0 PORT=8787 SERVICE_EXTENSIONS__PATH=/app/extensions
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY handlers handlers
COPY src src
COPY scripts scripts
COPY docs/public docs/public
COPY --from=console /app/dist/console dist/console
# Extensions are installed by mounting a folder here, or by copying one in a further stage.
# The bytes of uploaded files, where no bucket has them: a volume of your own.
RUN mkdir extensions && install -d -o node -g node -m 700 .data .data/files
USER node
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/api/system/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that SIGTERM reaches it and requests are drained.
CMD ["node", "--max-semi-space-size=8", "scripts/start-node.ts"]
