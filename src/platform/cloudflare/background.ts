/** Background work on Workers: keeps the isolate alive for it, as long as the platform allows. */
import { waitUntil } from 'cloudflare:workers'
import type { Observe } from '../../ports/observe.ts'
import type { Background } from '../../ports/ports.ts'

export function createCloudflareBackground(observe: Observe): Background {
  return (work) => waitUntil(work.catch((error: unknown) => observe({ kind: 'fault', error })))
}
