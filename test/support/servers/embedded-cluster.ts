/** The files of an embedded database that is still empty; to make them is most of what its first start takes. */
import { openEmbeddedPostgres } from '../../../src/platform/node/embedded/postgres.ts'
import { copyPrepared } from '../run/prepared.ts'

/** Puts them where `openEmbeddedPostgres(directory)` looks for its own. */
export function prepareEmbedded(directory: string): Promise<void> {
  return copyPrepared('embedded', directory, async (empty) => {
    const embedded = await openEmbeddedPostgres({ directory: empty })
    await embedded.close()
  })
}
