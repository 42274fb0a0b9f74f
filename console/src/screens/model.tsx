/** The data model of a workspace: its collections, one of them with all that it has, the diagram, and the model file. */
import { CodeButton } from '../app/code.tsx'
import { lazy } from '../app/lazy.tsx'
import { pathTo } from '../app/router.ts'
import { useQuery } from '../data/queries.ts'
import { accessQuery } from '../data/workspaces.ts'
import { t } from '../messages/messages.ts'
import { modelTexts } from '../messages/model.ts'
import { Heading } from '../ui/heading.tsx'
import { Pending as Waiting } from '../ui/notice.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Missing } from './missing.tsx'
import { OneCollection } from './model/collection.tsx'
import { modelRequest, useDraft } from './model/data.ts'
import { List } from './model/list.tsx'
import { Pending } from './model/pending.tsx'
import page from './page.module.css'
import { Entitled } from './sources/rights.tsx'

const Diagram = lazy(() => import('./model/diagram.tsx'))
const File = lazy(() => import('./model/file.tsx'))

type ModelProps = {
  readonly workspace: string
  /** Of a collection; `-` for parts of the whole model, since names begin with a letter. */
  readonly name: string | undefined
  readonly part: string | undefined
}

const parts = ['list', 'diagram', 'file'] as const
type Part = (typeof parts)[number]

export default function Model({ workspace, name, part }: ModelProps) {
  const current = name === undefined ? 'list' : name === '-' ? parts.find((one) => one === part) : undefined
  if (name === '-' && (current === undefined || current === 'list')) return <Missing workspace={workspace} />
  return (
    <div class={page.page}>
      {current !== undefined && <Head workspace={workspace} current={current} />}
      <Entitled workspace={workspace} rights={['dataModel:read']}>
        <Content workspace={workspace} name={name} part={part} current={current} />
      </Entitled>
    </div>
  )
}

function Head({ workspace, current }: { readonly workspace: string; readonly current: Part }) {
  const texts = modelTexts.value
  return (
    <>
      <div class={page.head}>
        <Heading
          text={t.value.shell.model}
          called={[...(current === 'list' ? [] : [texts.parts[current]]), t.value.shell.model]}
        />
        <CodeButton request={() => modelRequest(workspace)} />
      </div>
      <Tabs
        label={t.value.shell.model}
        tabs={parts.map((one) => ({
          href: partPath(workspace, one),
          title: texts.parts[one],
          isCurrent: one === current,
        }))}
      />
      <p class={page.quiet}>{texts.about[current]}</p>
    </>
  )
}

function partPath(workspace: string, part: Part): string {
  return part === 'list' ? pathTo(workspace, 'model') : pathTo(workspace, 'model', '-', part)
}

function Content({ workspace, name, part, current }: ModelProps & { readonly current: Part | undefined }) {
  const { model, error, refetch, changes } = useDraft(workspace)
  const { data: access } = useQuery(accessQuery(workspace))
  const mayEdit = access?.entitlements.includes('dataModel:edit') === true
  if (model === undefined) {
    return <Waiting data={model} error={error} onRetry={() => void refetch()} lines={6} />
  }
  const draft = { workspace, model, changes, mayEdit }
  return (
    <>
      {current !== 'file' && <Pending workspace={workspace} model={model} />}
      {current === 'list' && <List {...draft} />}
      {current === 'diagram' && <Diagram {...draft} />}
      {current === 'file' && <File workspace={workspace} mayEdit={mayEdit} />}
      {current === undefined && name !== undefined && <OneCollection {...draft} name={name} part={part} />}
    </>
  )
}
