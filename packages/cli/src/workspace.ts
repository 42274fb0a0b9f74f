/** Whether there is the workspace that somebody signs in for. */
import type { User } from 'governed-data-client'
import { system, workspace } from 'governed-data-client/system'
import { explain } from './advice.ts'
import type { Connection } from './connection.ts'
import { Failure } from './failure.ts'
import { nearest } from './nearest.ts'

/** Names beyond so many are no help. */
const MOST_NAMES = 10

/** Who a new session is of; it ends where there is no such workspace. */
export async function welcomed(connection: Connection): Promise<User> {
  try {
    const user = await connection.must(connection.db.$auth.me())
    await requireWorkspace(connection)
    return user
  } catch (cause) {
    await connection.db.$auth.logout()
    throw cause
  }
}

/** Throws where there is none, with the names that the caller may know: those of workspaces that they are members of. */
export async function requireWorkspace({ db, target }: Connection): Promise<void> {
  const found = await workspace(db).access()
  if (found.ok) return
  if (found.status !== 404) throw explain(found.error, target)
  const own = await system(db).workspaces.list({ limit: 0, fields: ['apiName'] })
  const names = own.ok ? own.data.map(({ apiName }) => apiName).sort() : []
  const more = names.length > MOST_NAMES ? ' and others' : ''
  const help =
    names.length === 0
      ? 'whoever runs the service knows what its workspaces are called'
      : `you are in ${names.slice(0, MOST_NAMES).join(', ')}${more}`
  throw new Failure(`there is no workspace ${target.workspace}${nearest(target.workspace, names)}`, {
    cause: found.error,
    help,
  })
}
