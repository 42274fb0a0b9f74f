/**
 * The guided set-up: first administrator, first workspace, then sample data, a database, or a model by a form or a file. It goes by what there
 * is already, so that it can be left and taken up again; it ends on the collections of the workspace.
 */
import { useState } from 'preact/hooks'
import { address, navigate, pathTo } from '../app/router.ts'
import { instance, visitor } from '../data/client.ts'
import { useQuery } from '../data/queries.ts'
import { addSample } from '../data/sample.ts'
import { checkSession, sessionOpened, type User } from '../data/session.ts'
import { modelChanged, readableQuery, workspacesQuery } from '../data/workspaces.ts'
import { explainFault } from '../messages/fault.ts'
import { formatNumber, t } from '../messages/messages.ts'
import { Fault, Notice, Skeleton } from '../ui/notice.tsx'
import { ConnectDatabase } from './connect-database.tsx'
import styles from './entry.module.css'
import { Entry } from './entry.tsx'
import { NewWorkspace } from './new-workspace.tsx'
import page from './page.module.css'
import { ModelFile } from './set-up/model-file.tsx'
import { NewModel } from './set-up/new-model.tsx'
import { EmailField, FullNameField, faultOf, NewPasswordField, SecretField, Submission } from './submission.tsx'

export default function SetUp({ user }: { readonly user: User | undefined }) {
  return user === undefined ? <FirstAdministrator /> : <AfterSignIn />
}

function Step({ number }: { readonly number: 1 | 2 | 3 }) {
  const texts = t.value.setUp
  return <p class={styles.quiet}>{`${texts.title} · ${texts.step(formatNumber(number), formatNumber(3))}`}</p>
}

function FirstAdministrator() {
  const texts = t.value.setUp
  const [email, setEmail] = useState('')
  const [fullName, setFullName] = useState('')
  const [password, setPassword] = useState('')
  const [setupToken, setSetupToken] = useState('')
  const submit = async () => {
    const who = { email: email.trim(), password }
    const body = { ...who, ...(fullName.trim() && { fullName: fullName.trim() }), setupToken: setupToken.trim() }
    const answer = await visitor.$request('POST', '/api/system/bootstrap', { body })
    if (!answer.ok) return faultOf(answer, { 403: texts.wrongToken, 409: texts.taken })
    navigate('/-/set-up', 'replace')
    const signedIn = await instance.$auth.login(who)
    await (signedIn.ok ? sessionOpened() : checkSession())
  }
  return (
    <Entry title={texts.administrator}>
      <Step number={1} />
      <p class={styles.quiet}>{texts.administratorText}</p>
      <Submission label={texts.create} onSubmit={submit}>
        <EmailField value={email} onValue={setEmail} />
        <FullNameField value={fullName} onValue={setFullName} />
        <NewPasswordField value={password} onValue={setPassword} />
        <SecretField label={texts.setupToken} hint={texts.setupTokenText} value={setupToken} onValue={setSetupToken} />
      </Submission>
    </Entry>
  )
}

function AfterSignIn() {
  const texts = t.value.setUp
  const { data: workspaces, error, refetch } = useQuery(workspacesQuery())
  const requestedWorkspace = address.value.searchParams.get('workspace')
  const [created, setCreated] = useState<string>()
  const workspace = created ?? requestedWorkspace ?? workspaces?.[0]?.apiName
  if (error && !workspaces) {
    return (
      <Entry title={texts.title}>
        <Fault error={error} onRetry={() => void refetch()} />
      </Entry>
    )
  }
  if (workspaces === undefined) {
    return (
      <Entry title={texts.title}>
        <Skeleton lines={4} />
      </Entry>
    )
  }
  if (workspace !== undefined) return <Data workspace={workspace} />
  return (
    <Entry title={texts.workspace}>
      <Step number={2} />
      <p class={styles.quiet}>{texts.workspaceText}</p>
      <NewWorkspace onCreated={({ apiName }) => setCreated(apiName)} />
      <Later />
    </Entry>
  )
}

function Later() {
  return (
    <div class={styles.more}>
      <a href="/">{t.value.common.later}</a>
    </div>
  )
}

const waysInOrder = ['connect', 'form', 'file'] as const
type Way = (typeof waysInOrder)[number]

const ways = { connect: ConnectDatabase, form: NewModel, file: ModelFile }

function Data({ workspace }: { readonly workspace: string }) {
  const texts = t.value.setUp
  const { data: collections = [] } = useQuery(readableQuery(workspace))
  const { data: workspaces = [] } = useQuery(workspacesQuery())
  // Whoever adds to what there is has been through the steps before.
  const isMore = collections.length > 0 || workspaces.length > 1
  const step = isMore ? <p class={styles.quiet}>{workspace}</p> : <Step number={3} />
  const [way, setWay] = useState<Way>()
  const [isPlanned, setPlanned] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  const leave = (...more: readonly string[]) => {
    void modelChanged(workspace)
    navigate(pathTo(workspace, ...more))
  }
  const sample = async () => {
    if (isBusy) return
    setBusy(true)
    setFault(undefined)
    try {
      await addSample(workspace)
      leave('items', 'books')
    } catch (error) {
      setFault(explainFault(error as Parameters<typeof explainFault>[0]))
      setBusy(false)
    }
  }
  if (way !== undefined) {
    const Chosen = ways[way]
    return (
      <Entry title={isPlanned ? texts.review : texts[way]} isWide>
        {step}
        <Chosen
          workspace={workspace}
          onDone={(collection) => (collection === undefined ? leave() : leave('items', collection))}
          onBack={() => setWay(undefined)}
          onPlanned={setPlanned}
        />
      </Entry>
    )
  }
  return (
    <Entry title={texts.data} isWide>
      {step}
      {fault && <Notice look="danger">{fault}</Notice>}
      <div class={page.stack}>
        <button type="button" class={page.card} aria-disabled={isBusy} onClick={sample}>
          <strong>{texts.sample}</strong>
          <span class={page.quiet}>{isBusy ? texts.sampleUnderWay : texts.sampleText}</span>
        </button>
        {waysInOrder.map((name) => (
          <button key={name} type="button" class={page.card} onClick={() => setWay(name)}>
            <strong>{texts[name]}</strong>
            <span class={page.quiet}>{texts[`${name}Text`]}</span>
          </button>
        ))}
      </div>
      {isMore ? (
        <div class={styles.more}>
          <a href={pathTo(workspace)}>{t.value.shell.toWorkspace(workspace)}</a>
        </div>
      ) : (
        <Later />
      )}
    </Entry>
  )
}
