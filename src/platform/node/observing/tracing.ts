/**
 * A span for each request, sent by OTLP over HTTP as configured by OpenTelemetry's standard variables
 * (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
 * `OTEL_TRACES_SAMPLER`, …). A span has the route, never the path, which may contain anything. Loaded only if tracing
 * is on.
 */
import { randomBytes } from 'node:crypto'
import { context, type SpanContext, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Environment } from '../../../config.ts'
import type { Observe } from '../../../ports/observe.ts'

export type Tracing = {
  readonly observe: Observe
  /** Sends the remaining spans. */
  readonly close: () => Promise<void>
}

/** The libraries read their variables from the process. */
export type TracingDeps = { readonly environment: Environment; readonly version: string }

export function openTracing(deps: TracingDeps): Tracing {
  const { environment, version } = deps
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'service', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(environment),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('service', version)

  return {
    observe(observation) {
      if (observation.kind !== 'request') return
      const { method, route, status, milliseconds, requestId, traceparent, isCallers = false } = observation
      const end = Date.now()
      const parent = parentOf(traceparent)
      const span = tracer.startSpan(
        `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          startTime: end - milliseconds,
          attributes: {
            'http.request.method': method,
            'http.route': route,
            'http.response.status_code': status,
            'service.request_id': requestId,
          },
        },
        parent === undefined ? context.active() : trace.setSpanContext(context.active(), parent),
      )
      if (status >= 500 && !isCallers) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(end)
    },
    close: () => provider.shutdown(),
  }
}

/** Parses the W3C header `traceparent`. */
function parentOf(header: string | undefined): SpanContext | undefined {
  const [, traceId, spanId] =
    /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}

/**
 * The operator decides which requests are sampled, not the caller: the sampled flag of `traceparent` is ignored, and a
 * ratio is drawn per request, since callers choose trace ids.
 */

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }: Environment): Sampler {
  const own = name?.replace('parentbased_', '')
  const root: Sampler =
    own === 'always_off'
      ? new AlwaysOffSampler()
      : own === 'traceidratio'
        ? new TraceIdRatioBasedSampler(share === undefined ? 1 : Number(share))
        : new AlwaysOnSampler()
  return {
    shouldSample: (parent, _, ...span) => root.shouldSample(parent, randomBytes(16).toString('hex'), ...span),
    toString: () => root.toString(),
  }
}
