/** `/api/auth/providers` (contract 6): signing in through a provider. */
import type { Services } from '../src/services/services.ts'
import { data } from './respond.ts'
import { type App, mount } from './routes.ts'

export function mountProviderSignIn(app: App, { providers }: Services): void {
  mount(app, '/api/auth/providers', { GET: async () => data(await providers.listEnabled()) })
}
