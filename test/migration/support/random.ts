/** What random migrations of a workspace's own tables may do. */
import type { ModelRecords } from '../../../src/core/model/model.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { storableTypes } from '../../support/data/imported.ts'
import type { RandomOptions } from '../../support/data/random-operations.ts'
import type { Workspace } from './client.ts'

export function randomOptions({ apiName, sourceId }: Workspace, { namespaces }: ModelRecords): RandomOptions {
  const dataNamespace = namespaces.find(({ dbName }) => dbName === `service_${apiName}_data`)?.id ?? null
  return {
    sourceId,
    context: { workspace: apiName, dialectOf: () => postgres, dataNamespaceOf: () => dataNamespace },
    namespaceNames: [`service_${apiName}_x`, `service_${apiName}_y`],
    typesOf: () => types,
  }
}

const types = storableTypes({ dialect: postgres })
