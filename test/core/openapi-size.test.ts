/** Documents of a model in which every table refers to one: users of such schemas have hundreds of tables. */
import { expect, it } from 'vitest'
import { fullModelView } from '../../src/core/manifest/model-view.ts'
import { compileManifest } from '../../src/core/manifest.ts'
import { workspaceDocument } from '../../src/core/openapi.ts'
import { atOnce } from '../../src/core/parts.ts'
import { build } from '../support/data/build.ts'

function star(tables: number) {
  const names = Array.from({ length: tables }, (_, index) => `table${1000 + index}`)
  const columns = { id: 'int64', title: 'string', createdById: 'int64?', updatedById: 'int64?' }
  return build.model(
    { users: { id: 'int64', name: 'string' }, ...Object.fromEntries(names.map((name) => [name, columns])) },
    names.flatMap((name) => [
      `${name}.createdBy(createdById) -> users.${name}ByCreatedBy`,
      `${name}.updatedBy(updatedById) -> users.${name}ByUpdatedBy`,
    ]),
  )
}

function documentOf(tables: number): string {
  const view = fullModelView(() => undefined)
  return [...workspaceDocument({ workspace: 'demo', model: star(tables), view, version: '1.0.0' })].join('')
}

it('grow with the model, not with its square', () => {
  expect(documentOf(160).length).toBeLessThan(2.1 * documentOf(80).length)
})

it('describe a nested item without the relation that leads back', () => {
  const { schemas } = JSON.parse(documentOf(2)).components
  expect(schemas.table1000createdByCreateRelatedWithoutTypeInput).toEqual({
    $ref: '#/components/schemas/usersCreateInput',
    not: { required: ['table1000ByCreatedBy'] },
  })
  const { strings, querySchema } = atOnce(compileManifest(star(2)))
  const fieldsOf = (name: string) =>
    querySchema.inputObjectTypes
      .find((type) => strings[type.name] === name)
      ?.fields.flatMap((value, place) => (place % 2 === 0 ? [strings[value]] : []))
  const own = fieldsOf('usersCreateInput')
  expect(own).toContain('table1000ByCreatedBy')
  expect(fieldsOf('table1000createdByCreateRelatedWithoutTypeInput')).toEqual(
    own?.filter((name) => name !== 'table1000ByCreatedBy'),
  )
})
