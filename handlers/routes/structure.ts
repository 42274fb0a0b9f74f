/**
 * `/api/{workspace}/schema/structure/…` (docs/contract.md#system-collections): the system collections under their newer
 * path.
 */
import type { Services } from '../../src/services/instance/services.ts'
import { dataText, listText } from '../http/answer.ts'
import { authorize } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { answered, pageAfter, rawQuery } from '../http/raw-query.ts'
import { pathParam } from '../http/request.ts'

export const addresses = {
  sources: 'ServiceDataSource',
  namespaces: 'ServiceNamespace',
  collections: 'ServiceCollection',
  'fields/primitive': 'ServicePrimitiveField',
  'fields/single-relation': 'ServiceSingleRelationField',
  indexes: 'ServiceIndex',
}

export function mountStructure(app: App, services: Services): void {
  for (const [address, collection] of Object.entries(addresses)) {
    const path = `/api/:workspace/schema/structure/${address}`
    mount(
      app,
      path,
      {
        GET: async (c) => {
          const scope = await authorize(services, c)
          return answered(c, services.items.list(scope, collection, rawQuery(c)), (answer) =>
            listText(answer, pageAfter(c)),
          )
        },
      },
      { strictQuery: ['GET'] },
    )
    mount(
      app,
      `${path}/:id`,
      {
        GET: async (c) => {
          const scope = await authorize(services, c)
          return answered(
            c,
            services.items.read(scope, collection, { kind: 'value', value: pathParam(c, 'id') }, rawQuery(c)),
            dataText,
          )
        },
      },
      { strictQuery: ['GET'] },
    )
  }
}
