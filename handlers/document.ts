/**
 * What every route takes and answers, for the OpenAPI document of the system; loaded when that is first asked for. A route
 * that is mounted and not described here fails test/core/documented-routes.test.ts; items are described by the document
 * of their workspace.
 */
import { type RouteDescriptions, systemDocument } from '../src/core/openapi/system.ts'
import { VERSION } from '../src/services/release.ts'
import { instanceRoutes } from './document/instance.ts'
import { licenseRoutes } from './document/license.ts'
import { signingInRoutes } from './document/signing-in.ts'
import { workspaceRoutes } from './document/workspace.ts'

export const describedRoutes: RouteDescriptions = {
  ...instanceRoutes,
  ...licenseRoutes,
  ...signingInRoutes,
  ...workspaceRoutes,
}

export function renderSystemDocument(): string {
  return systemDocument(describedRoutes, VERSION)
}
