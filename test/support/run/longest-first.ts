/**
 * The order of the test files: those that take longest come first, so that no core idles at the end while another works on
 * one of them. All others follow by their projects, as they are.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Beginnings of their paths below `test`; what computes and what waits take turns. */
const LONGEST = [
  'property/reads.mariadb',
  'process/local-run.workerd',
  'property/reads.postgres',
  'process/local-run.node',
  'fuzz/items-fuzz',
  'migration/crash',
  'process/embedded-postgres',
  'access/access.',
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
