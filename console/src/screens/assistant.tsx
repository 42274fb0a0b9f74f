/** The assistant, beside the screen that is shown: conversations, an answer as it comes, and what waits for its user. */
import { ServiceError } from 'governed-data-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { route } from '../app/router.ts'
import { type AnswerEvent, ask, assistantChanged, conversationsQuery, readConversation } from '../data/assistant.ts'
import { clientOf } from '../data/client.ts'
import { useQuery } from '../data/queries.ts'
import { userId } from '../data/session.ts'
import { unsavedAt } from '../data/unsaved.ts'
import { accessQuery } from '../data/workspaces.ts'
import { assistantTexts } from '../messages/assistant.ts'
import { explainFault } from '../messages/fault.ts'
import { t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { Pending } from '../ui/notice.tsx'
import { showToast } from '../ui/toasts.tsx'
import styles from './assistant/assistant.module.css'
import { Entries } from './assistant/entries.tsx'
import { SettingsForm } from './assistant/settings.tsx'
import { type ShownEntry, shownEntriesOf, withEvent } from './assistant/shown-entries.ts'
import { createFile, saveFile } from './transfer/file.ts'

type PanelProps = { readonly workspace: string; readonly onClose: () => void }

/** What is kept over a reload. */
type Kept = { readonly text?: string; readonly conversationId?: string }

export default function Assistant({ workspace, onClose }: PanelProps) {
  const texts = assistantTexts.value
  const { data, error, refetch } = useQuery(conversationsQuery(workspace))
  const { data: access } = useQuery(accessQuery(workspace))
  const [isSettingUp, setSettingUp] = useState(false)
  const maySetUp = access?.entitlements.includes('workspaceSettings:edit') === true
  const isReady = data?.meta.isReady === true
  return (
    <aside class={styles.panel} aria-label={texts.title}>
      {data === undefined && (
        <div class={styles.conversation}>
          <Pending data={data} error={error} onRetry={() => void refetch()} lines={6} />
        </div>
      )}
      {data && (isSettingUp || !isReady) && (
        <>
          <Head title={texts.setUp} onClose={onClose} />
          <div class={styles.conversation}>
            {!isReady && <p>{texts.notReady}</p>}
            {maySetUp ? (
              <SettingsForm
                workspace={workspace}
                onDone={() => setSettingUp(false)}
                onCancel={isReady ? () => setSettingUp(false) : undefined}
              />
            ) : (
              <p>{texts.notReadyMember}</p>
            )}
            <OwnAgent workspace={workspace} />
          </div>
        </>
      )}
      {data && isReady && !isSettingUp && (
        <Conversations
          workspace={workspace}
          known={data.data}
          onClose={onClose}
          onSettings={maySetUp ? () => setSettingUp(true) : undefined}
        />
      )}
    </aside>
  )
}

type HeadProps = { readonly title: string; readonly onClose: () => void; readonly items?: readonly MenuItem[] }

function Head({ title, onClose, items }: HeadProps) {
  const texts = assistantTexts.value
  return (
    <header class={styles.head}>
      <h2 dir="auto">{title}</h2>
      {items && (
        <Menu label={texts.conversations} items={items} isIcon>
          <Icon name="more" />
        </Menu>
      )}
      <Button look="plain" isIcon aria-label={texts.close} onClick={onClose}>
        <Icon name="close" />
      </Button>
    </header>
  )
}

function OwnAgent({ workspace }: { readonly workspace: string }) {
  const address = `${location.origin}/api/${encodeURIComponent(workspace)}/mcp`
  return (
    <section class={styles.form}>
      <p class={styles.quiet}>{assistantTexts.value.ownAgent}</p>
      <code dir="ltr" class={styles.address}>
        {address}
      </code>
      <CopyButton text={address} isSecondary />
    </section>
  )
}

type ConversationsProps = {
  readonly workspace: string
  readonly known: readonly { readonly id: string; readonly title: string; readonly allowsWrites: boolean }[]
  readonly onClose: () => void
  readonly onSettings: (() => void) | undefined
}

function Conversations({ workspace, known, onClose, onSettings }: ConversationsProps) {
  const texts = assistantTexts.value
  const kept = unsavedAt<Kept>(['assistant', userId.value, workspace], {})
  const { conversationId: id, text = '' } = kept.value
  const [shown, setShown] = useState<readonly ShownEntry[]>([])
  const [answering, setAnswering] = useState<AbortController>()
  const [isDeciding, setDeciding] = useState(false)
  const end = useRef<HTMLDivElement>(null)
  const current = known.find((one) => one.id === id)
  const choose = (conversationId: string | undefined) => {
    kept.value = { ...(text !== '' && { text }), ...(conversationId !== undefined && { conversationId }) }
  }

  const load = async (one: string) => setShown(shownEntriesOf(await readConversation(workspace, one)))
  // An answer that is under way shows what comes; what was there before is read where another conversation is chosen.
  useEffect(() => {
    if (answering !== undefined) return
    if (id === undefined) setShown([])
    else load(id).catch(() => choose(undefined))
  }, [id])
  useEffect(() => () => answering?.abort(), [answering])
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [shown])

  const answer = async (message: string | undefined) => {
    const ended = new AbortController()
    setAnswering(ended)
    if (message !== undefined) setShown((before) => [...before, { kind: 'user', text: message }])
    const add = (event: AnswerEvent) => {
      if (event.name === 'conversation') kept.value = { conversationId: event.data.id }
      setShown((before) => withEvent(before, event))
    }
    const question = {
      context: contextOf(),
      ...(id !== undefined && { conversationId: id }),
      ...(message !== undefined && { message }),
    }
    try {
      for await (const event of ask(workspace, question, ended.signal)) add(event)
    } catch (cause) {
      if (!ended.signal.aborted) {
        add({
          name: 'error',
          data: { message: cause instanceof ServiceError ? explainFault(cause) : t.value.fault.network },
        })
        if (message !== undefined) kept.value = { ...kept.value, text: message }
      }
    }
    setAnswering(undefined)
    await assistantChanged(workspace)
  }

  const decide = async (approval: string, approve: boolean) => {
    setDeciding(true)
    const decided = await clientOf(workspace).$request('POST', `ai/approvals/${approval}`, { body: { approve } })
    if (!decided.ok) showToast(explainFault(decided.error), 'danger')
    if (id !== undefined) await load(id)
    setDeciding(false)
    if (decided.ok) await answer(undefined)
  }

  const send = (event: Event) => {
    event.preventDefault()
    const message = text.trim()
    if (message === '' || answering !== undefined) return
    kept.value = id === undefined ? {} : { conversationId: id }
    void answer(message)
  }

  const change = async (body: object) => {
    if (id !== undefined) await clientOf(workspace).$request('PATCH', `ai/conversations/${id}`, { body })
    await assistantChanged(workspace)
  }
  const remove = async () => {
    if (id !== undefined) await clientOf(workspace).$request('DELETE', `ai/conversations/${id}`)
    choose(undefined)
    await assistantChanged(workspace)
  }

  const items: readonly MenuItem[] = [
    { kind: 'action', label: texts.newOne, onSelect: () => choose(undefined) },
    ...(onSettings ? [{ kind: 'action', label: texts.settings, onSelect: onSettings } as const] : []),
    ...(current
      ? ([
          { kind: 'action', label: texts.export, onSelect: () => void exportOf(workspace, current.id) },
          { kind: 'line' },
          { kind: 'deletion', label: texts.delete, onSelect: () => void remove() },
        ] as const)
      : []),
    { kind: 'line' },
    { kind: 'title', label: texts.conversations },
    ...known.slice(0, 12).map(({ id: one, title }) => ({
      kind: 'choice' as const,
      label: title,
      isChosen: one === id,
      onSelect: () => choose(one),
    })),
  ]

  return (
    <>
      <Head title={current?.title ?? texts.title} onClose={onClose} items={items} />
      <div class={styles.log} role="log" aria-label={texts.title} aria-busy={answering !== undefined}>
        <div class={styles.entries}>
          {shown.length === 0 && <p class={styles.quiet}>{texts.hello}</p>}
          <Entries
            workspace={workspace}
            shown={shown}
            isBusy={isDeciding || answering !== undefined}
            onDecide={(approval, isApproved) => void decide(approval, isApproved)}
          />
          <div ref={end} />
        </div>
      </div>
      <form class={styles.composer} onSubmit={send}>
        {current && (
          <Checkbox
            label={texts.allowsWrites}
            isChecked={current.allowsWrites}
            onCheck={(allowsWrites) => void change({ allowsWrites })}
          />
        )}
        <textarea
          rows={3}
          dir="auto"
          aria-label={texts.label}
          placeholder={texts.placeholder}
          value={text}
          onInput={(event) => {
            kept.value = { ...kept.value, text: event.currentTarget.value }
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) send(event)
          }}
        />
        <div class={styles.choice}>
          <span class={styles.quiet}>{answering === undefined ? texts.untrusted : texts.answering}</span>
          {answering === undefined ? (
            <Button type="submit" look="primary">
              {texts.send}
            </Button>
          ) : (
            <Button onClick={() => answering.abort()}>{texts.stop}</Button>
          )}
        </div>
      </form>
    </>
  )
}

/** Where its user is. */
function contextOf(): object {
  const at = route.value
  return {
    screen: at.kind,
    ...('collection' in at && { collection: at.collection }),
    ...('key' in at && { key: at.key.join() }),
  }
}

async function exportOf(workspace: string, id: string): Promise<void> {
  const file = createFile('conversation.json', 'application/json')
  file.add(JSON.stringify(await readConversation(workspace, id), null, 2))
  const made = file.end()
  saveFile(made)
  made.forget()
}
