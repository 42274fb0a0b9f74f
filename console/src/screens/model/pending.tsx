/** The changes that are collected: each can be taken back, all are reviewed and made as one migration. */
import { useState } from 'preact/hooks'
import { formatNumber, t } from '../../messages/messages.ts'
import { modelTexts } from '../../messages/model.ts'
import { valuesTexts } from '../../messages/values.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { PathText } from '../review/sheet.tsx'
import { memberTexts } from '../review/words.ts'
import { MigrationReview } from '../review.tsx'
import { operationsOf, without } from './changes.ts'
import { backOf, changesOf, forgetWayBack, keepWayBack, wayBack } from './data.ts'
import styles from './model.module.css'
import type { Model } from './records.ts'

type PendingProps = { readonly workspace: string; readonly model: Model }

export function Pending({ workspace, model }: PendingProps) {
  const texts = modelTexts.value
  const [isReviewed, setReviewed] = useState(false)
  const changes = changesOf(workspace)
  const all = changes.value
  if (all.length === 0) return <Made workspace={workspace} model={model} />
  const shown = formatNumber(all.length)
  const title = texts.pending(shown, all.length)
  return (
    <section class={styles.pending} aria-label={title}>
      <div class={page.head}>
        <h2>{title}</h2>
        <span class={page.row}>
          <Button look="plain" onClick={() => (changes.value = [])}>
            {texts.dropAll}
          </Button>
          <Button look="primary" onClick={() => setReviewed(true)}>
            {texts.review(shown, all.length)}
          </Button>
        </span>
      </div>
      <ol>
        {all.map(({ action, path, to, members = [{}, {}] }, at) => (
          <li key={`${at} ${path}`} class={page.row}>
            <span>
              <span class={page.quiet}>{t.value.model.actions[action]}</span> <PathText path={path} />
              {to !== undefined && (
                <>
                  {' '}
                  <span class={page.quiet}>{valuesTexts.value.becomes}</span> <code dir="ltr">{to}</code>
                </>
              )}
              <Members texts={memberTexts(...members)} />
            </span>
            <Button
              look="plain"
              isSmall
              aria-label={texts.dropOf(path)}
              onClick={() => (changes.value = without(all, at))}
            >
              {texts.drop}
            </Button>
          </li>
        ))}
      </ol>
      {isReviewed && (
        <MigrationReview
          workspace={workspace}
          title={texts.reviewTitle(shown, all.length)}
          operations={operationsOf(all)}
          onDone={(made) => {
            changes.value = []
            setReviewed(false)
            keepWayBack(workspace, made)
            if (made.inverse === null) showToast(texts.done)
          }}
          onClose={() => setReviewed(false)}
        />
      )}
    </section>
  )
}

function Members({ texts }: { readonly texts: readonly string[] }) {
  return texts.length === 0 ? null : <span>: {texts.join(' · ')}</span>
}

/** What takes the last migration back, where something does: a migration like any other, which is reviewed before it is made. */
function Made({ workspace, model }: PendingProps) {
  const texts = modelTexts.value
  const [isReviewed, setReviewed] = useState(false)
  const way = wayBack(workspace, model)
  if (way === undefined) return null
  const { inverse } = way
  return (
    <>
      <Notice
        action={
          <>
            <Button onClick={() => setReviewed(true)}>{texts.takeBack}</Button>
            <Button look="plain" isIcon aria-label={t.value.shell.dismiss} onClick={() => forgetWayBack(workspace)}>
              <Icon name="close" />
            </Button>
          </>
        }
      >
        {texts.done} {t.value.review.back[backOf(way)]}
      </Notice>
      {isReviewed && (
        <MigrationReview
          workspace={workspace}
          title={texts.takeBackTitle}
          operations={inverse}
          label={texts.takeBack}
          onDone={(made) => {
            setReviewed(false)
            keepWayBack(workspace, made)
            if (made.inverse === null) showToast(texts.done)
          }}
          onClose={() => setReviewed(false)}
        />
      )}
    </>
  )
}
