/**
 * Tool calls of the assistant (docs/contract.md#assistant). Calls that delete, change the model or link to files wait for the
 * user's approval, for ten minutes and this version of the model, and run at most once with exactly the arguments that were
 * shown.
 */
import { isOffered } from '../../core/assistant/approval.ts'
import { charactersOfResults, type ToolCall } from '../../core/assistant/conversation.ts'
import { cutResult } from '../../core/assistant/prompt.ts'
import type { OfferedTool } from '../../core/assistant/wire.ts'
import { ServiceError } from '../../core/error.ts'
import type { Instant } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import {
  addOutcome,
  decideApproval,
  insertApproval,
  loadApproval,
  loadConversation,
  type Owner,
} from '../../store/assistant.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { LazyBody } from '../caller/directory.ts'
import { planOn } from '../model/reviewed.ts'
import { MOST_READ, ownerOf } from './conversations.ts'
import type { AssistantSettingsService } from './settings.ts'

export type ToolAnswer = { readonly text: string; readonly isError: boolean }

/** Tools, run with the user's current rights at each call. */
export type AssistantTools = {
  offered(): Promise<readonly OfferedTool[]>
  /** `sent` is the JSON text of an object. With a plan, the tool runs only under the plan's version of the model. */
  run(tool: string, sent: string, plan?: string): Promise<ToolAnswer>
}

export type WaitingCall = {
  readonly id: string
  readonly tool: string
  readonly arguments: string
  readonly expiresAt: string
}

export type Decision = { readonly state: 'approved' | 'declined'; readonly result?: string; readonly isError?: boolean }

export type Calls = {
  /** Stores a call with its arguments until its user decides. Returns what the user is shown. */
  keepWaiting(scope: RequestScope, conversationId: string, call: ToolCall): Promise<WaitingCall>
  /**
   * Declines a waiting call, or runs it once with the stored arguments. Throws 404 for another user's call, and 409 for a call
   * that is decided, older than ten minutes, or made for another version of the model.
   */
  decide(
    scope: RequestScope,
    id: string,
    sent: LazyBody<{ readonly approve: boolean }>,
    tools: AssistantTools,
  ): Promise<Decision>
}

const APPROVAL = 10 * 60_000
const NOT_ALLOWED = 'This was not run: the model may be told no values of items any more.'

export type CallsDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids'>
  readonly settings: Pick<AssistantSettingsService, 'open'>
}

export function createCalls(deps: CallsDeps): Calls {
  const { ports, settings } = deps
  const { clock, database, ids } = ports

  async function undecided(
    owner: Owner,
    approval: { readonly id: string; readonly now: Instant },
  ): Promise<ServiceError> {
    const state = await loadApproval(database, owner, approval)
    if (state === undefined) return new ServiceError('notFound', 'Approval does not exist')
    if (state === 'pending') {
      return new ServiceError('conflict', 'The data model has changed since: the call is not run any more')
    }
    const why = state === 'expired' ? 'The call waited for more than ten minutes' : `The call was ${state} already`
    return new ServiceError('conflict', why)
  }

  return {
    async keepWaiting({ snapshot }: RequestScope, conversationId: string, call: ToolCall): Promise<WaitingCall> {
      const [id, expiresAt] = [ids.next(), clock.now() + APPROVAL]
      const { tool, arguments: sent } = call
      const { modelVersion } = snapshot
      await database.batch([insertApproval({ id, conversationId, tool, arguments: sent, modelVersion, expiresAt })])
      return { id, tool, arguments: sent, expiresAt: new Date(expiresAt).toISOString() }
    },

    async decide(scope, id, sent, tools) {
      const owner = ownerOf(scope)
      const { approve: isApproved } = await sent()
      const now = clock.now()
      const call = await decideApproval(database, owner, { id, isApproved, now })
      if (call === undefined) throw await undecided(owner, { id, now })
      const { conversationId, tool } = call
      const action = isApproved ? 'assistant.approve.v1' : 'assistant.decline.v1'
      await recordAssistantAction(ports, scope, { action, conversationId, tool, approvalId: id })
      if (!isApproved) return { state: 'declined' }
      const level = (await settings.open(scope.workspace.id))?.dataLevel
      const isAllowed = level !== undefined && isOffered(tool, level)
      const { text, isError } = isAllowed
        ? await tools.run(tool, call.arguments, await planOn(scope.workspace, call.modelVersion))
        : { text: NOT_ALLOWED, isError: true }
      const conversation = await loadConversation(database, owner, { id: conversationId, most: MOST_READ, now })
      const result = cutResult(text, charactersOfResults(conversation?.entries ?? []))
      await addOutcome(database, conversationId, { kind: 'outcome', tool, text: result, isError })
      return { state: 'approved', result, isError }
    },
  }
}

type AssistantAction = {
  readonly action: 'assistant.ask.v1' | 'assistant.run.v1' | 'assistant.approve.v1' | 'assistant.decline.v1'
  readonly conversationId: string
  readonly tool?: string
  readonly approvalId?: string
}

/** Records a question to the assistant, a call, or an approval in the audit log of the workspace. */
export async function recordAssistantAction(
  { database, ids }: Pick<Ports, 'database' | 'ids'>,
  scope: RequestScope,
  { action, conversationId, ...payload }: AssistantAction,
): Promise<void> {
  const target = { type: 'conversation', id: conversationId } as const
  await database.batch([recordWorkspaceEvent(ids, scope, { action, target, payload })])
}
