/** All services of the assistant, loaded on the first request, because most workspaces have no assistant. */
import type { Ports } from '../../ports/ports.ts'
import { deleteConversationsBefore } from '../../store/assistant.ts'
import { type Calls, createCalls } from './calls.ts'
import { type Answers, createAnswers } from './chat.ts'
import { type Conversations, createConversations } from './conversations.ts'
import { type AssistantSettingsService, createAssistantSettings } from './settings.ts'

export type Assistant = {
  readonly settings: AssistantSettingsService
  readonly conversations: Conversations
  readonly answers: Answers
  readonly calls: Calls
  /** Deletes conversations without an answer for `retention` milliseconds. */
  prune(retention: number): Promise<void>
}

export type AssistantDeps = { readonly ports: Ports }

export function createAssistant(deps: AssistantDeps): Assistant {
  const { ports } = deps
  const settings = createAssistantSettings({ ports })
  const calls = createCalls({ ports, settings })
  return {
    settings,
    conversations: createConversations({ ports }),
    answers: createAnswers({ ports, settings, calls }),
    calls,
    prune: (retention) => deleteConversationsBefore(ports.database, ports.clock.now() - retention),
  }
}
