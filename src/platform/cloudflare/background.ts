/** Work that no answer waits for, on Workers: the isolate stays for it, as long as the platform allows. */
import { waitUntil } from 'cloudflare:workers'
import type { Background, Observe } from '../../ports.ts'

export function createCloudflareBackground(observe: Observe): Background {
  return (work) => waitUntil(work.catch((error: unknown) => observe({ kind: 'fault', error })))
}
