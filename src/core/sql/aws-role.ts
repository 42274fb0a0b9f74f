/**
 * AWS roles that data sources may use with the keys of this process: only those that the operator lists, each for the
 * listed workspaces or, without a list, for all. Without a role, sources cannot use these keys.
 */
import * as z from 'zod'
import { lazily } from '../lazily.ts'
import { configFault, type SqlTarget } from './address.ts'

export type AwsRole = {
  readonly roleArn: string
  readonly externalId?: string | undefined
  readonly workspaces?: readonly string[] | undefined
}

export const awsRolesSchema = lazily(() =>
  z
    .array(
      z.strictObject({
        roleArn: z.string().regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/),
        externalId: z
          .string()
          .regex(/^[\w+=,.@:/-]{2,1224}$/)
          .optional(),
        workspaces: z.array(z.string()).optional(),
      }),
    )
    .refine((roles) => new Set(roles.map(({ roleArn }) => roleArn)).size === roles.length),
)

/** Throws ServiceError `invalid` if the source may not use this process's keys. */
export function requireAwsRole(target: SqlTarget, roles: readonly AwsRole[], workspace: string): void {
  if ('hyperdrive' in target) return
  const { auth } = target
  if (auth.kind !== 'awsIam' || auth.keys !== undefined) return
  if (auth.roleArn === undefined) throw configFault('auth', 'needs accessKeyId and secretAccessKey, or a roleArn')
  const role = roles.find(({ roleArn }) => roleArn === auth.roleArn)
  if (role === undefined || role.workspaces?.includes(workspace) === false) {
    throw configFault('auth.roleArn', 'is not a role that this workspace may use without keys of its own')
  }
}
