/** Roles and policies → the members `roles` and `policies` of a file, by name. */
import { presentPolicy } from '../../access/policy.ts'
import type { Model } from '../../model/model.ts'
import type { AccessRecords } from '../access/records.ts'
import { type FilePolicy, type FileRole, inOrder, type ModelFile } from '../file.ts'

export function exportAccess(
  { roles, policies }: AccessRecords,
  model: Model,
): Required<Pick<ModelFile, 'roles' | 'policies'>> & { readonly ids: readonly (readonly [string, string])[] } {
  const names = new Map(policies.map(({ id, name }) => [id, name]))
  return {
    roles: new Map(
      inOrder(
        roles.map(({ name, description, policyIds }): readonly [string, FileRole] => {
          const own = policyIds.flatMap((id) => names.get(id) ?? [])
          return [name, { description, policies: own.sort(), renamedFrom: undefined }]
        }),
      ),
    ),
    policies: new Map(
      inOrder(
        policies.map(({ name, description, content }): readonly [string, FilePolicy] => [
          name,
          { description, content: presentPolicy(content, model), renamedFrom: undefined },
        ]),
      ),
    ),
    ids: [
      ...roles.map(({ name, id }) => [`role ${name}`, id] as const),
      ...policies.map(({ name, id }) => [`policy ${name}`, id] as const),
    ],
  }
}
