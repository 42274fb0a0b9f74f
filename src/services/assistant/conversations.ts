/** A user's conversations with the assistant of a workspace (docs/contract.md#assistant); no other account can access them. */
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { Ports } from '../../ports/ports.ts'
import {
  changeConversation,
  deleteConversation,
  listConversations,
  loadConversation,
  type Owner,
  type StoredConversation,
} from '../../store/assistant.ts'
import { requireUser } from '../caller/caller.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { LazyBody } from '../caller/directory.ts'

export type ConversationChange = { readonly title?: string | undefined; readonly allowsWrites?: boolean | undefined }

export type Conversations = {
  /** Returns JSON text. Throws 403 without ai:mcp, and 401 for anonymous callers. */
  list(scope: RequestScope): Promise<string>
  /** Returns a conversation with all entries. Throws 404 for another user's conversation. */
  read(scope: RequestScope, id: string): Promise<StoredConversation>
  change(scope: RequestScope, id: string, sent: LazyBody<ConversationChange>): Promise<StoredConversation>
  delete(scope: RequestScope, id: string): Promise<void>
}

/** Bytes of entries that are read for an answer, besides those of the last question; a model is sent fewer. */
export const MOST_READ = 400_000

const MOST_LISTED = 200
/** Bytes of entries that are shown; large enough for all. */
const MOST_SHOWN = 4_000_000

export type ConversationsDeps = { readonly ports: Pick<Ports, 'clock' | 'database'> }

export function createConversations(deps: ConversationsDeps): Conversations {
  const { clock, database } = deps.ports

  async function read(scope: RequestScope, id: string): Promise<StoredConversation> {
    const found = await loadConversation(database, ownerOf(scope), { id, most: MOST_SHOWN, now: clock.now() })
    if (found === undefined) return noConversation()
    const entries = found.entries.map((entry) => {
      if (entry.kind !== 'assistant') return entry
      const { reasoning: _, ...shown } = entry
      return shown
    })
    return { ...found, entries }
  }

  return {
    list: (scope) => listConversations(database, ownerOf(scope), MOST_LISTED),
    read,
    async change(scope, id, sent) {
      const owner = ownerOf(scope)
      if (!(await changeConversation(database, owner, id, await sent()))) noConversation()
      return read(scope, id)
    },
    async delete(scope, id) {
      if (!(await deleteConversation(database, ownerOf(scope), id))) noConversation()
    },
  }
}

/** Throws 403 without ai:mcp and for a key with a scope, and 401 for anonymous callers. */
export function ownerOf({ workspace, caller, rights }: RequestScope): Owner {
  requireEntitlement(rights, 'ai:mcp')
  // A conversation contains and writes what its user may, which is more than a scoped key allows.
  if (rights.kind === 'scoped') throw new ServiceError('forbidden', 'A key with a scope has no assistant')
  return { workspaceId: workspace.id, userId: requireUser(caller) }
}

export function noConversation(): never {
  throw new ServiceError('notFound', 'Conversation does not exist')
}
