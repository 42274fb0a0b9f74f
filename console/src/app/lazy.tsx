/** A screen that is loaded when it is first shown: its shape until then, and another try where it does not come. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Notice, Skeleton } from '../ui/notice.tsx'

type Loaded<P> = { readonly default: ComponentType<P> }

export function lazy<P extends object>(load: () => Promise<Loaded<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [Screen, setScreen] = useState(() => loaded)
    const [hasFailed, setFailed] = useState(false)
    useEffect(() => {
      if (loaded !== undefined || hasFailed) return
      load().then(
        (module) => {
          loaded = module.default
          setScreen(() => loaded)
        },
        () => setFailed(true),
      )
    }, [hasFailed])
    if (Screen !== undefined) return <Screen {...props} />
    if (!hasFailed) return <Skeleton lines={6} />
    return (
      // A newer console may have taken the place of this one, and its files with it.
      <Notice look="danger" action={<Button onClick={() => location.reload()}>{t.value.fault.reload}</Button>}>
        {t.value.fault.broken}
      </Notice>
    )
  }
}
