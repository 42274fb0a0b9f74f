/** Dependencies of the use cases of the model file. */
import type { Ports } from '../../../ports/ports.ts'
import type { WorkQueue } from '../../caller/work-queue.ts'
import type { LicenseGuard } from '../../license/held-license.ts'
import type { Introspection } from '../../model/introspection.ts'
import type { MigrationWork } from '../../model/migration-work.ts'
import type { ModelCache } from '../../model/model-cache.ts'
import type { ModelChanges } from '../../model/model-changes.ts'
import type { AccessTests } from '../access-tests.ts'
import type { LoadGrantor } from '../delegation.ts'

export type ModelFileDeps = {
  readonly ports: Ports
  readonly models: ModelCache
  readonly changes: ModelChanges
  readonly work: MigrationWork
  readonly introspection: Pick<Introspection, 'outline'>
  readonly license: LicenseGuard
  readonly loadGrantor: LoadGrantor
  readonly accessTests: Pick<AccessTests, 'keep'>
  readonly queues: Readonly<Record<'changes' | 'documents', WorkQueue>>
}
