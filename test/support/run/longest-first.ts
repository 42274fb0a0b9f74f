/**
 * The order of the test files: those that take longest come first, so that no core idles at the end while another works on
 * one of them. All others follow by their projects, as they are.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Beginnings of their paths below `test`; what computes and what waits take turns. */
const LONGEST = [
  'process/local-run.workerd',
  'property/reads.collations',
  'process/local-run.node',
  'fuzz/items-fuzz',
  'databases/ended-statements',
  'process/embedded-postgres',
  'property/reads.postgres',
  'migration/crash',
  'access/access.',
  'ports/connector-host.node',
  'process/openapi-clients',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const inOrder = await super.sort(files)
    return inOrder.toSorted((one, other) => rank(one) - rank(other))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const found = LONGEST.findIndex((beginning) => moduleId.includes(`/test/${beginning}`))
  return found === -1 ? LONGEST.length : found
}
