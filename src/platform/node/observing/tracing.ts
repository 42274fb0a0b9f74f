/**
 * A span for each request, sent by OTLP over HTTP as the standard variables of OpenTelemetry say
 * (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
 * `OTEL_TRACES_SAMPLER`, …). A span holds the route and never the path, which may hold anything. Loaded only where traces are sent.
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
import type { Observe } from '../../../ports.ts'

export type Tracing = {
  readonly observe: Observe
  /** Sends what is left. */
  readonly close: () => Promise<void>
}

/** The libraries read the variables of the process themselves. */
export function openTracing(environment: Environment, version: string): Tracing {
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

/** The W3C header `traceparent`. */
function parentOf(header: string | undefined): SpanContext | undefined {
  const [, traceId, spanId] =
    /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}

/**
 * Whether a request is traced is for the operator to say, not for its caller: what `traceparent` says of being sampled is not
 * asked, and a share is drawn for each request, since a caller chooses the id of a trace.
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
