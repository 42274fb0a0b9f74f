/**
 * Descriptions of all routes for the OpenAPI document of the system; loaded when the document is first requested.
 * test/core/documented-routes.test.ts fails for a mounted route without a description; items are described by the
 * document of their workspace.
 */
import { type RouteDescriptions, systemDocument } from '../../src/core/openapi/system.ts'
import { VERSION } from '../../src/services/instance/release.ts'
import { assistantRoutes } from './assistant.ts'
import { instanceRoutes } from './instance.ts'
import { licenseRoutes } from './license.ts'
import { signingInRoutes } from './signing-in.ts'
import { workspaceRoutes } from './workspace.ts'

export const describedRoutes: RouteDescriptions = {
  ...instanceRoutes,
  ...licenseRoutes,
  ...signingInRoutes,
  ...workspaceRoutes,
  ...assistantRoutes,
}

export function renderSystemDocument(): string {
  return systemDocument(describedRoutes, VERSION)
}
