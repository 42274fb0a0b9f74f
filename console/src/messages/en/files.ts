/** Texts of files: their screen, uploads, and fields that lead to them. */
import { pluralIn } from '../plural.ts'

const plural = pluralIn('en')

export const files = {
  files: {
    title: 'Files',
    upload: 'Upload',
    uploadFor: (field: string) => `Upload a file for ${field}`,
    drop: 'Drop files anywhere on this page, or press Upload.',
    dropHere: 'Drop to upload',
    none: 'No files',
    noneFound: 'No file meets the filter.',
    find: 'Find by name',
    unused: 'Only unused',
    unusedHint: 'Files that no item refers to.',
    more: 'Show more',
    count: (shown: string, count: number) => plural(count, { one: `${shown} file`, other: `${shown} files` }),
    uploads: 'Uploads',
    progress: (name: string) => `Upload of ${name}`,
    sentOf: (sent: string, total: string) => `${sent} of ${total}`,
    waiting: 'Waiting',
    goOn: 'Go on',
    cancel: (name: string) => `Cancel the upload of ${name}`,
    content: 'Content',
    download: 'Download',
    replace: 'Replace',
    replaced: 'Replaced.',
    copyLink: 'Copy a link',
    linkCopied: 'Copied. It works for an hour, for whoever has it.',
    noPreview: 'There is no preview of this type.',
  },
}
