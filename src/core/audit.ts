/**
 * The audit log: the closed list of recorded actions, each with its label for people, and the form of an entry. Names
 * are `<family>.<verb>.v1` (docs/contract.md#audit-log). A payload never contains a secret.
 */
export const auditActions = {
  'auth.login.v1': 'Sign-in',
  'auth.logout.v1': 'Sign-out',
  'auth.refresh.v1': 'Tokens refreshed',
  'auth.device_approve.v1': 'Sign-in of a device approved',
  'auth.device_deny.v1': 'Sign-in of a device declined',
  'session.delete.v1': 'Session ended by its user',
  'auth.password_change.v1': 'Password changed',
  'auth.password_reset_request.v1': 'Password reset requested',
  'auth.password_reset_confirm.v1': 'Password reset',
  'user.create.v1': 'User created',
  'user.update.v1': 'User changed',
  'user.delete.v1': 'User deleted',
  'user.suspend.v1': 'User suspended',
  'user.join_workspace.v1': 'User joined a workspace',
  'user.remove_workspace.v1': 'User removed from a workspace',
  'role.create.v1': 'Role created',
  'role.update.v1': 'Role changed',
  'role.delete.v1': 'Role deleted',
  'role.assign.v1': 'Role assigned',
  'role.unassign.v1': 'Role revoked',
  'policy.create.v1': 'Policy created',
  'policy.update.v1': 'Policy changed',
  'policy.delete.v1': 'Policy deleted',
  'access_test.create.v1': 'Access test kept',
  'access_test.delete.v1': 'Access test deleted',
  'invitation.create.v1': 'Invitation created',
  'invitation.accept.v1': 'Invitation accepted',
  'invitation.delete.v1': 'Invitation deleted',
  'api_key.create.v1': 'API key created',
  'api_key.update.v1': 'API key changed',
  'api_key.delete.v1': 'API key deleted',
  'provider.create.v1': 'Sign-in provider created',
  'provider.update.v1': 'Sign-in provider changed',
  'provider.delete.v1': 'Sign-in provider deleted',
  'service_account.create.v1': 'Service account created',
  'service_account.update.v1': 'Service account changed',
  'service_account.delete.v1': 'Service account deleted',
  'workspace.create.v1': 'Workspace created',
  'workspace.update.v1': 'Workspace changed',
  'workspace.delete.v1': 'Workspace deleted',
  'schema.migrate.v1': 'Data model migrated',
  'schema.apply.v1': 'Model file applied',
  'schema.introspect.v1': 'Data source introspected',
  'schema.drift.v1': 'Data source changed outside of the service',
  'source.create.v1': 'Data source created',
  'source.update.v1': 'Configuration of a data source changed',
  'source.test.v1': 'Connection to a data source tested',
  'source.preview.v1': 'Data source looked at',
  'source.delete.v1': 'Data source deleted',
  'secret.create.v1': 'Secret created',
  'secret.update.v1': 'Secret changed',
  'secret.delete.v1': 'Secret deleted',
  'file.create.v1': 'File uploaded or restored',
  'file.update.v1': 'File changed or replaced',
  'file.delete.v1': 'File deleted',
  'file.link.v1': 'Link to a file made',
  'access.act_as.v1': 'Read as somebody else',
  'assistant.settings.v1': 'Assistant set up',
  'assistant.ask.v1': 'Assistant asked',
  'assistant.run.v1': 'Assistant changed something for its user',
  'assistant.approve.v1': 'Call of the assistant approved',
  'assistant.decline.v1': 'Call of the assistant declined',
  'license.refresh.v1': 'License revalidated',
} as const satisfies Readonly<Record<string, string>>

export type AuditAction = keyof typeof auditActions

/** Who acted: a user (its record tells whether it is a service account), an anonymous caller, or the service itself. */
export type Actor =
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'system' }

export type TargetType =
  | 'user'
  | 'session'
  | 'role'
  | 'policy'
  | 'accessTest'
  | 'invitation'
  | 'apiKey'
  | 'serviceAccount'
  | 'workspace'
  | 'source'
  | 'secret'
  | 'provider'
  | 'file'
  | 'conversation'

export type AuditEntry = {
  readonly action: AuditAction
  readonly outcome: 'success' | 'failure'
  readonly actor: Actor
  readonly workspaceId: string | null
  readonly target: { readonly type: TargetType; readonly id: string } | null
  /** The caller's IP address, recorded for events of signing in only. */
  readonly address: string | null
  readonly payload: Readonly<Record<string, unknown>>
}
