/** A screen that is loaded when it is first shown: its shape until then, and another try where it does not come or once there is a connection. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { instance } from '../data/client.ts'
import { explainFault } from '../messages/fault.ts'
import { t } from '../messages/messages.ts'
import page from '../screens/page.module.css'
import { Button } from '../ui/button.tsx'
import { Notice, Skeleton } from '../ui/notice.tsx'
import { showToast } from '../ui/toasts.tsx'

type Loaded<P> = { readonly default: ComponentType<P> }

/** A page that does not come would take the place of this one. */
async function tryAgain(): Promise<void> {
  const answer = await instance.$request('GET', '/api/system/info')
  if (answer.ok) location.reload()
  else showToast(explainFault(answer.error), 'danger')
}

export function lazy<P extends object>(load: () => Promise<Loaded<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [Screen, setScreen] = useState(() => loaded)
    const [failed, setFailed] = useState<'here' | 'offline'>()
    useEffect(() => {
      if (loaded !== undefined || failed === 'here') return undefined
      if (failed === 'offline') {
        // Browsers keep that it did not come, until the page is loaded again.
        const again = () => location.reload()
        addEventListener('online', again)
        return () => removeEventListener('online', again)
      }
      load().then(
        (module) => {
          loaded = module.default
          setScreen(() => loaded)
        },
        () => setFailed(navigator.onLine ? 'here' : 'offline'),
      )
      return undefined
    }, [failed])
    if (Screen !== undefined) return <Screen {...props} />
    if (failed === undefined) return <Skeleton lines={6} />
    return (
      <div class={page.page}>
        {failed === 'offline' ? (
          <Notice look="warning" action={<Button onClick={() => void tryAgain()}>{t.value.common.retry}</Button>}>
            {t.value.fault.offline}
          </Notice>
        ) : (
          // A newer console may have taken the place of this one, and its files with it.
          <Notice look="danger" action={<Button onClick={() => location.reload()}>{t.value.fault.reload}</Button>}>
            {t.value.fault.broken}
          </Notice>
        )}
      </div>
    )
  }
}
