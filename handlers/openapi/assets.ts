/** Descriptions of the routes of files. */
import * as z from 'zod'
import type { RouteDescriptions } from '../../src/core/openapi/system.ts'
import { PRESETS } from '../../src/services/assets/presets.ts'
import { linkBody } from '../routes/assets.ts'
import { uploadBody } from '../routes/uploads.ts'
import { data, deletion, item, noContent, parameter, requestBody } from './describe.ts'

const files = 'Files'

const bytes = { 'application/octet-stream': {} }
const upload = z.strictObject({
  id: z.uuid(),
  fileName: z.string(),
  fileSize: z.number(),
  partSize: z.number(),
  parts: z.array(z.strictObject({ n: z.int(), size: z.int() })),
  expiresAt: z.iso.datetime(),
})
const anyBytes = { mediaType: '*/*', schema: {} }
const fileName = parameter('fileName', 'What the file is called.', { type: 'string', maxLength: 255 })

export const assetRoutes: RouteDescriptions = {
  'POST /api/{workspace}/assets': {
    summary: 'Upload a file',
    tag: files,
    asks: { kind: 'item', of: 'ServiceFile' },
    parameters: [fileName],
    otherBodies: {
      ...bytes,
      'multipart/form-data': { type: 'object', additionalProperties: { type: 'string', format: 'binary' } },
    },
    answers: { '201': { description: 'The file, or those of a form.', schema: { kind: 'some', of: 'ServiceFile' } } },
    errors: ['paymentRequired'],
  },
  'GET /api/{workspace}/assets/{id}': {
    summary: 'Download a file',
    tag: files,
    parameters: [
      parameter('download', 'To keep the file instead of showing it.', { type: 'string' }),
      parameter('link', 'In place of a credential.', { type: 'string' }),
      parameter('preset', 'The side of the square that an image is to fit into.', { type: 'integer', enum: PRESETS }),
    ],
    answers: {
      '200': { description: 'The bytes of the file.', headers: { ETag: 'Of the bytes.' }, ...anyBytes },
      '206': {
        description: 'The bytes that `Range` asks for.',
        headers: { 'Content-Range': 'Which they are.' },
        ...anyBytes,
      },
      '304': { description: 'The client has these bytes: `If-None-Match` names their tag.' },
    },
    errors: ['paymentRequired', 'rangeNotSatisfiable'],
  },
  'PUT /api/{workspace}/assets/{id}': {
    summary: 'Give a file other bytes',
    tag: files,
    asks: { kind: 'item', of: 'ServiceFile' },
    parameters: [fileName],
    otherBodies: bytes,
    answers: { '200': item('ServiceFile', 'The file.') },
    errors: ['paymentRequired', 'preconditionFailed'],
  },
  'POST /api/{workspace}/assets/{id}/restore': {
    summary: 'Restore a deleted file',
    tag: files,
    asks: { kind: 'item', of: 'ServiceFile' },
    answers: { '201': item('ServiceFile', 'The file.') },
    errors: ['paymentRequired'],
  },
  'POST /api/{workspace}/assets/{id}/link': {
    summary: 'Make a link to a file',
    tag: files,
    body: requestBody(linkBody(), { expiresIn: '5m' }),
    answers: {
      '200': data(z.strictObject({ url: z.url(), expiresAt: z.iso.datetime() }), 'Whoever has it reads the file.'),
    },
    errors: ['paymentRequired', 'throttled'],
  },
  'POST /api/{workspace}/assets/uploads': {
    summary: 'Begin an upload in parts',
    tag: files,
    body: requestBody(uploadBody(), { fileName: 'film.mp4', fileSize: 734003200 }),
    answers: { '201': data(upload, 'The upload.') },
    errors: ['paymentRequired'],
  },
  'GET /api/{workspace}/assets/uploads/{id}': {
    summary: 'See which parts of an upload are there',
    tag: files,
    answers: { '200': data(upload, 'The upload.') },
    errors: ['paymentRequired'],
  },
  'DELETE /api/{workspace}/assets/uploads/{id}': deletion('Give up an upload', files, { errors: ['paymentRequired'] }),
  'PUT /api/{workspace}/assets/uploads/{id}/{number}': {
    summary: 'Send a part of an upload',
    tag: files,
    otherBodies: bytes,
    answers: { '204': noContent },
    errors: ['paymentRequired', 'conflict'],
  },
  'POST /api/{workspace}/assets/uploads/{id}/complete': {
    summary: 'Make a file of the parts of an upload',
    tag: files,
    asks: { kind: 'item', of: 'ServiceFile' },
    answers: { '201': item('ServiceFile', 'The file.') },
    errors: ['paymentRequired', 'conflict'],
  },
}
