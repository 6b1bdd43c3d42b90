{{- define "convengine.selector" -}}
app.kubernetes.io/name: convengine
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "convengine.labels" -}}
{{ include "convengine.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* What the containers of servers and migrations have in common. */}}
{{- define "convengine.container" -}}
image: "{{ .Values.image.repository }}:{{ required "Set image.tag, the version of your image." .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
command: [convengine]
envFrom: [{secretRef: {name: {{ .Values.existingSecret }}}}]
env:
  - {name: CE_VAR_DIR, value: {{ .Values.filesPath | quote }}}
  {{- range $name, $value := .Values.env }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.runAsUser }}
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
  seccompProfile: {type: RuntimeDefault}
volumeMounts: [{name: files, mountPath: {{ .Values.filesPath }}}, {name: temporary, mountPath: /tmp}]
{{- end }}

{{- define "convengine.pod" -}}
automountServiceAccountToken: false
volumes: [{name: files, emptyDir: {}}, {name: temporary, emptyDir: {}}]
{{- if .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range $name := .Values.imagePullSecrets }}
  - {name: {{ $name }}}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
