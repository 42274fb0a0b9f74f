/** Who may do what in a workspace: its people, their roles, the policies of those, and why somebody may or may not. */
import { CodeButton } from '../app/code.tsx'
import { pathTo } from '../app/router.ts'
import { useQuery } from '../data/queries.ts'
import { accessQuery } from '../data/workspaces.ts'
import { accessTexts } from '../messages/access.ts'
import { t } from '../messages/messages.ts'
import { Heading } from '../ui/heading.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { useInsight } from './access/data.ts'
import { People } from './access/people.tsx'
import { Policies } from './access/policies.tsx'
import { PolicyEditor } from './access/policy.tsx'
import { Roles } from './access/roles.tsx'
import { Tests } from './access/tests.tsx'
import { Why } from './access/why.tsx'
import type { CodeRequest } from './code/request.ts'
import { Missing } from './missing.tsx'
import page from './page.module.css'

const parts = ['people', 'roles', 'policies', 'why', 'tests'] as const
type Part = (typeof parts)[number]

type AccessProps = {
  readonly workspace: string
  readonly part: string
  /** Of one policy; `new` for one that is made. */
  readonly id?: string | undefined
}

/** Of each part what its screen reads. */
const lists: Readonly<Record<Part, string>> = {
  people: 'members',
  roles: 'roles',
  policies: 'policies',
  why: 'access',
  tests: 'access/tests',
}

/** What the client calls it, where that is not the list of its path. */
const calls: Partial<Readonly<Record<Part, string>>> = { why: 'access', tests: 'tests.list' }

export default function Access({ workspace, part, id }: AccessProps) {
  const texts = accessTexts.value
  const { data: access } = useQuery(accessQuery(workspace))
  const mayTest = useInsight(workspace) === true
  const current = parts.find((one) => one === part)
  if (current === undefined || (id !== undefined && current !== 'policies')) return <Missing workspace={workspace} />
  const mayEdit = access?.entitlements.includes('workspaceMembers:edit') === true
  const request: CodeRequest = {
    workspace,
    path: pathTo(workspace, ...lists[current].split('/')),
    query: {},
    call: ['workspace', calls[current] ?? `${lists[current]}.list`],
  }
  return (
    <div class={page.page}>
      <div class={page.head}>
        <Heading text={t.value.shell.access} called={[texts.parts[current], t.value.shell.access]} />
        <CodeButton request={() => request} />
      </div>
      <Tabs
        label={t.value.shell.access}
        tabs={parts
          .filter((one) => one !== 'tests' || mayTest)
          .map((one) => ({ href: partPath(workspace, one), title: texts.parts[one], isCurrent: one === current }))}
      />
      <p class={page.quiet}>{texts.about[current]}</p>
      {current === 'people' && <People workspace={workspace} mayEdit={mayEdit} />}
      {current === 'roles' && <Roles workspace={workspace} mayEdit={mayEdit} />}
      {current === 'policies' && id === undefined && <Policies workspace={workspace} mayEdit={mayEdit} />}
      {current === 'policies' && id !== undefined && (
        <PolicyEditor key={id} workspace={workspace} id={id} mayEdit={mayEdit} />
      )}
      {current === 'why' && <Why workspace={workspace} />}
      {current === 'tests' && <Tests workspace={workspace} />}
    </div>
  )
}

function partPath(workspace: string, part: Part): string {
  return part === 'people' ? pathTo(workspace, 'access') : pathTo(workspace, 'access', part)
}
