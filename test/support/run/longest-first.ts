/**
 * The order of the test files: those that take longest come first, so that no core idles at the end while another works on
 * one of them. The files of a project follow each other, since a worker that goes on with another project starts anew.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Beginnings of paths below `test`. They wait as much as they compute, so that a third worker computes meanwhile. */
const FIRST = ['process/local-run.workerd', 'process/local-run.node']

/** Those with long files; all others, whose files are short and many, follow. */
const PROJECTS = ['property', 'access', 'databases', 'process', 'migration', 'fuzz', 'ports']

/** Beginnings of paths, too: what comes first in its project. */
const LONGEST = [
  'property/reads.collations',
  'property/reads.postgres',
  'property/types.neon',
  'property/types.planetscale',
  'property/request-forms',
  'access/access.',
  'access/delegation',
  'databases/ended-statements',
  'databases/published',
  'process/embedded-engine',
  'process/embedded-postgres',
  'process/openapi-clients',
  'migration/crash',
  'migration/drift',
  'fuzz/items-fuzz',
  'ports/connector-host.node',
  'acceptance/connectors',
  'acceptance/source-databases',
  'acceptance/hostile-requests',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const inOrder = await super.sort(files)
    return inOrder.toSorted(
      (one, other) =>
        place(FIRST, one) - place(FIRST, other) ||
        placeOf(one.project.name) - placeOf(other.project.name) ||
        one.project.name.localeCompare(other.project.name) ||
        place(LONGEST, one) - place(LONGEST, other),
    )
  }
}

function placeOf(project: string): number {
  return orLast(PROJECTS, PROJECTS.indexOf(project))
}

function place(beginnings: readonly string[], { moduleId }: TestSpecification): number {
  const found = beginnings.findIndex((beginning) => moduleId.includes(`/test/${beginning}`))
  return orLast(beginnings, found)
}

function orLast(list: readonly string[], index: number): number {
  return index === -1 ? list.length : index
}
