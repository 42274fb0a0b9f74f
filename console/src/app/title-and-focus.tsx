/** What follows from an address for the whole window: its title, and where the focus goes when another screen is shown. */
import { useEffect } from 'preact/hooks'
import { FILES } from '../data/files.ts'
import { useQuery } from '../data/queries.ts'
import { session } from '../data/session.ts'
import { readableQuery, titleIn, workspacesQuery } from '../data/workspaces.ts'
import { t } from '../messages/messages.ts'
import { names as ofScreen } from '../ui/heading.tsx'
import { address, returnedFrom, route } from './router.ts'

/** Whether anything has had the focus since the page was loaded; until then it stays where the browser begins. */
let wasUsed = false
addEventListener('focusin', () => {
  wasUsed = true
})

export function TitleAndFocus() {
  const title = useTitle()
  const screen = `${session.value.kind} ${address.value.pathname}`
  useEffect(() => {
    document.title = title
  }, [title])
  useEffect(() => {
    if (wasUsed) focusScreen()
  }, [screen])
  return null
}

/** The screen and its part, the collection, the workspace, the service, each where it is known. */
function useTitle(): string {
  const at = route.value
  const isKnown = session.value.kind === 'signedIn' && 'workspace' in at
  const workspace = isKnown ? at.workspace : undefined
  const collection = isKnown && 'collection' in at ? at.collection : undefined
  const { data: workspaces } = useQuery({ ...workspacesQuery(), enabled: workspace !== undefined })
  const { data: readable = [] } = useQuery({ ...readableQuery(workspace ?? ''), enabled: collection !== undefined })
  const named = workspaces?.find(({ apiName }) => apiName === workspace)?.displayName
  const names = [
    ...ofScreen.value,
    collection === FILES ? t.value.files.title : collection && titleIn(readable, collection),
    named ?? workspace,
    t.value.product,
  ]
  return [...new Set(names)].filter(Boolean).join(' · ')
}

/**
 * The focus goes to the title of the screen, or to its region until there is one; to the link by which it was left, where somebody
 * comes back. What has it in the region and is still there keeps it, and so does a dialog.
 */
function focusScreen(): void {
  const main = document.querySelector('main')
  const now = document.activeElement
  if (main === null || document.querySelector('dialog[open]') !== null) return
  if (now !== main && main.contains(now) && now?.localName !== 'h1') return
  const left = returnedFrom()
  const link = [...main.querySelectorAll('a')].find((one) => one.getAttribute('href') === left)
  const to = link ?? main.querySelector<HTMLElement>('[autofocus]') ?? main.querySelector('h1') ?? main
  to.focus()
}
