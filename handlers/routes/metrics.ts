/** `/metrics` for Prometheus, if enabled by a variable (docs/contract.md#observing). */
import { type App, mount } from '../http/mount.ts'

export function mountMetrics(app: App, text: () => Promise<string>): void {
  mount(app, '/metrics', {
    GET: async () => ({
      status: 200,
      body: await text(),
      headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
    }),
  })
}
