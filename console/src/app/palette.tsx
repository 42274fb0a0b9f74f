/**
 * The command palette (Ctrl+K): actions, collections and workspaces, items and fields by what is typed. What one may not do says why. Screens
 * add what they can do while they are shown.
 */
import { computed, signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { useQuery } from '../data/queries.ts'
import { type Session, session } from '../data/session.ts'
import { accessQuery, collectionsQuery, readableQuery, titleIn, workspacesQuery } from '../data/workspaces.ts'
import { t } from '../messages/messages.ts'
import { Combobox, type Option, search } from '../ui/combobox.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { openAssistant } from './assistant.tsx'
import { accessRequest, showCode } from './code.tsx'
import { navigate, pathTo, route } from './router.ts'

export type Command = Option & { readonly run: () => void }

const isOpen = signal(false)

export function openPalette(): void {
  isOpen.value = true
}

const ofScreens = signal<ReadonlyMap<object, readonly Command[]>>(new Map())
const added = computed(() => [...ofScreens.value.values()].flat())

/** Offers commands for as long as the component is drawn. `commands` keeps its identity while they are the same. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    const owner = {}
    ofScreens.value = new Map([...ofScreens.value, [owner, commands]])
    return () => {
      ofScreens.value = new Map([...ofScreens.value].filter(([key]) => key !== owner))
    }
  }, [commands])
}

export function startPalette(): void {
  addEventListener('keydown', (event) => {
    const isShortcut = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.code === 'KeyK'
    if (!isShortcut || !mayOpen(session.value)) return
    event.preventDefault()
    isOpen.value = !isOpen.value
  })
}

function mayOpen(now: Session): boolean {
  return now.kind === 'signedIn' && !now.isLost
}

export function Palette() {
  return isOpen.value && mayOpen(session.value) ? <OpenPalette /> : null
}

/** Typing rests so long before the service is asked, and for so many letters at least. */
const PAUSE = 150
const LETTERS = 2

function OpenPalette() {
  const [text, setText] = useState('')
  const offered = useOffered()
  const found = useFound(text)
  const texts = t.value.palette
  return (
    <Dialog
      title={texts.title}
      onClose={() => {
        isOpen.value = false
      }}
    >
      <Combobox
        isFirst
        label={texts.label}
        placeholder={texts.placeholder}
        options={[...search(offered, text), ...found]}
        onText={setText}
        onChoose={({ run }) => {
          isOpen.value = false
          run()
        }}
      />
    </Dialog>
  )
}

/** Items and fields by what was typed last. */
function useFound(text: string): readonly Command[] {
  const at = route.value
  const [found, setFound] = useState<{ readonly text: string; readonly commands: readonly Command[] }>()
  const workspace = 'workspace' in at ? at.workspace : undefined
  const collection = 'collection' in at ? at.collection : undefined
  const wanted = text.trim()
  useEffect(() => {
    if (wanted.length < LETTERS) return
    const ended = new AbortController()
    const wait = setTimeout(async () => {
      const { find } = await import('./palette-finds.ts')
      const commands = await find({ workspace, collection }, wanted, ended.signal)
      if (!ended.signal.aborted) setFound({ text: wanted, commands })
    }, PAUSE)
    return () => {
      clearTimeout(wait)
      ended.abort()
    }
  }, [workspace, collection, wanted])
  return found?.text === wanted ? found.commands : []
}

function labelOfAccess(part: 'policies' | 'why' | undefined): string {
  if (part === undefined) return t.value.shell.access
  return part === 'why' ? t.value.item.why : t.value.palette.newPolicy
}

/** All that can be done here, and why not where it cannot. */
function useOffered(): readonly Command[] {
  const at = route.value
  const workspace = 'workspace' in at ? at.workspace : undefined
  const { data: workspaces = [] } = useQuery(workspacesQuery())
  const { data: collections = [] } = useQuery({
    ...collectionsQuery(workspace ?? ''),
    enabled: workspace !== undefined,
  })
  const { data: access } = useQuery({ ...accessQuery(workspace ?? ''), enabled: workspace !== undefined })
  const { data: readable = [] } = useQuery({ ...readableQuery(workspace ?? ''), enabled: workspace !== undefined })
  const texts = t.value.palette
  const go = (...parts: readonly string[]) => {
    return () => navigate(pathTo(...parts))
  }
  const unless = (isAllowed: boolean, refusal: string) => (isAllowed ? {} : { refusal })
  const isAdministrator = session.value.kind === 'signedIn' && session.value.user.isAdministrator
  const may = (collection: string, action: 'read' | 'create') =>
    (access?.collections[collection]?.[action] ?? 'none') !== 'none'
  const action = { group: texts.actions }
  const ofCollection: readonly Command[] =
    'collection' in at && access !== undefined
      ? [
          {
            ...action,
            id: 'new',
            label: t.value.item.createTitle(titleIn(readable, at.collection)),
            run: go(at.workspace, 'new', at.collection),
            ...unless(may(at.collection, 'create'), texts.mayNotCreate),
          },
        ]
      : []
  const inWorkspace = { group: workspace ?? '' }
  const ofWorkspace: readonly Command[] =
    workspace !== undefined && access !== undefined
      ? [
          ...([[], ['policies', 'new'], ['why']] as const).map((below) => ({
            ...inWorkspace,
            id: `access ${below}`,
            label: labelOfAccess(below[0]),
            run: go(workspace, 'access', ...below),
            ...unless(access.entitlements.includes('workspaceMembers:read'), texts.takes('workspaceMembers:read')),
          })),
          ...(['', 'diagram', 'file'] as const).map((part) => ({
            ...inWorkspace,
            id: `model ${part}`,
            label: t.value.palette.model[part],
            run: go(workspace, 'model', ...(part === '' ? [] : ['-', part])),
            ...unless(access.entitlements.includes('dataModel:read'), texts.takes('dataModel:read')),
          })),
          {
            ...inWorkspace,
            id: 'sources',
            label: t.value.shell.sources,
            run: go(workspace, 'sources'),
            ...unless(access.entitlements.includes('dataSource:read'), texts.takes('dataSource:read')),
          },
          {
            ...inWorkspace,
            id: 'audit',
            label: t.value.audit.title,
            run: go(workspace, 'audit-log'),
            ...unless(access.entitlements.includes('auditLog:read'), texts.takes('auditLog:read')),
          },
          {
            ...inWorkspace,
            id: 'connect',
            label: t.value.setUp.connect,
            run: go(workspace, 'sources', 'new'),
            ...unless(
              access.entitlements.includes('dataSource:create') && access.entitlements.includes('dataModel:edit'),
              texts.takes('dataSource:create, dataModel:edit'),
            ),
          },
          {
            ...inWorkspace,
            id: 'agent',
            label: t.value.code.kinds.agent,
            run: () => showCode(accessRequest(workspace), 'agent'),
            ...unless(access.entitlements.includes('ai:mcp'), texts.takes('ai:mcp')),
          },
          {
            ...inWorkspace,
            id: 'assistant',
            label: t.value.shell.assistant,
            run: openAssistant,
            ...unless(access.entitlements.includes('ai:mcp'), texts.takes('ai:mcp')),
          },
          {
            ...inWorkspace,
            id: 'docs',
            label: t.value.code.explorer,
            run: () => open(`/api/${encodeURIComponent(workspace)}/docs`, '_blank', 'noreferrer'),
          },
        ]
      : []
  return [
    ...added.value,
    ...ofCollection,
    { ...action, id: 'home', label: texts.home, run: () => navigate('/') },
    { ...action, id: 'account', label: t.value.shell.yourAccount, run: go('-', 'account') },
    ...ofWorkspace,
    {
      ...action,
      id: 'instance audit',
      label: t.value.audit.titleOfInstance,
      run: go('-', 'audit-log'),
      ...unless(isAdministrator, texts.administrators),
    },
    ...collections
      .filter(({ isSystem }) => !isSystem)
      .map(({ name }) => ({
        id: `collection ${name}`,
        group: texts.collections,
        label: titleIn(readable, name),
        ...(titleIn(readable, name) !== name && { detail: name }),
        run: go(workspace ?? '', 'items', name),
        ...unless(access === undefined || may(name, 'read'), texts.mayNotRead),
      })),
    ...workspaces.map(({ id, apiName, displayName }) => ({
      id,
      group: texts.workspaces,
      label: displayName ?? apiName,
      detail: apiName,
      run: go(apiName),
    })),
  ]
}
