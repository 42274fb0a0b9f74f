/** What a source is called, which loads with the screens of sources. */
import { sourceTexts } from '../../messages/sources.ts'
import { OWN, type Source } from './data.ts'

/** That of the service's own is no name that anybody gave. */
export function sourceTitle({ apiName }: Pick<Source, 'apiName'>): string {
  return apiName === OWN ? sourceTexts.value.own : apiName
}
