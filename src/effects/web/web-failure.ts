import {errorCode, failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';

/** Thrown when one of our limits ends a request. */
export class LimitError extends Error {
  readonly code = 'AGENTDIR_LIMIT';
}

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no host with this name',
  EAI_AGAIN: 'the name could not be looked up just now: is the network there?',
  EAI_NODATA: 'there is no address for this name',
  ECONNREFUSED: 'the connection was refused: nothing listens there',
  ECONNRESET: 'the server broke off the connection',
  EPIPE: 'the server broke off the connection',
  ETIMEDOUT: 'the server could not be reached in time',
  EHOSTUNREACH: 'the server cannot be reached',
  ENETUNREACH: 'the server cannot be reached: is the network up?',
  EADDRNOTAVAIL: 'the server cannot be reached',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that this machine does not trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate could not be verified',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an authority that this machine does not trust',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is signed by an authority that this machine does not trust',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

export function webFailure(error: unknown, host: string): ToolFailure {
  if (error instanceof LimitError) return failure('TIMEOUT', `${host}: ${error.message}`);
  return failure('FAILED', `${host}: ${wordsFor(errorCode(error) ?? '', error)}`);
}

function wordsFor(code: string, error: unknown): string {
  const known = words[code];
  if (known) return code.includes('CERT') || code.includes('VERIFY') ? `no secure connection: ${known}` : known;
  if (code === 'EPROTO' || /^ERR_(SSL|TLS)_/.test(code))
    return `no secure connection: the server does not speak TLS as it should (${code})`;
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  if (code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR_'))
    return 'the answer could not be decompressed';
  return code === '' ? String((error as Error).message ?? error) : `the connection failed (${code})`;
}
