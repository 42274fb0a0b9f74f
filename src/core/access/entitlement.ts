/** Entitlements of a workspace that roles grant, besides access to items (docs/contract.md#policies). */
import * as z from 'zod'
import { type InferOutput, lazily } from '../lazily.ts'

export const entitlementSchema = lazily(() =>
  z.enum([
    'dataModel:read',
    'dataModel:edit',
    'dataSource:read',
    'dataSource:create',
    'dataSource:delete',
    'extension:read',
    'openApiSchema:read',
    'workspace:read',
    'workspace:edit',
    'workspace:delete',
    'workspaceMembers:read',
    'workspaceMembers:edit',
    'workspaceSettings:read',
    'workspaceSettings:edit',
    'auditLog:read',
    'ai:mcp',
  ]),
)

export type Entitlement = InferOutput<typeof entitlementSchema>
